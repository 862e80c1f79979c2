// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	apiservertesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
)

// startEtcd runs etcd in this process and returns its address.
func startEtcd(t *testing.T) string {
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.LogLevel = "fatal"
	config.UnsafeNoFsync = true
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.ListenPeerUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.AdvertiseClientUrls, config.AdvertisePeerUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	require.NoError(t, err)
	t.Cleanup(etcd.Close)
	<-etcd.Server.ReadyNotify()
	return "http://" + etcd.Clients[0].Addr().String()
}

// startAPI runs etcd and kube-apiserver in this process, and returns how to reach it, with
// all rights. The mode says what rights others have; more flags may follow.
func startAPI(t *testing.T, authorization string, flags ...string) *rest.Config {
	begin := time.Now()
	storage := storagebackend.NewDefaultConfig("/registry", nil)
	storage.Transport.ServerList = []string{startEtcd(t)}
	server, err := apiservertesting.StartTestServer(t, apiservertesting.NewDefaultTestServerOptions(), append([]string{
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--authorization-mode=" + authorization,
		"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1beta1=true", // PodGroups
		"--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000",
	}, flags...), storage)
	require.NoError(t, err)
	t.Cleanup(server.TearDownFn)
	t.Logf("kube-apiserver is healthy after %v", time.Since(begin).Round(time.Millisecond))
	config := rest.CopyConfig(server.ClientConfig)
	config.QPS, config.Burst = 2000, 2000
	return config
}

// writeKubeconfig writes a file by which a scheduler finds the API.
func writeKubeconfig(t *testing.T, config *rest.Config) string {
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData, TLSServerName: config.ServerName}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: config.BearerToken, Impersonate: config.Impersonate.UserName, ImpersonateGroups: config.Impersonate.Groups}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*k, file))
	return file
}

// writeFile writes a file that lives as long as the test.
func writeFile(t *testing.T, name, format string, args ...any) string {
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o600))
	return file
}
