// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed adapter live
var sources embed.FS

const (
	coreModule = "github.com/apache/yunikorn-core"
	ourModule  = "github.com/go-preempt/preempt"
	objects    = "pkg/scheduler/objects"
)

// seams are the methods of YuniKorn that the adapter takes the place of.
var seams = []struct{ file, method, native string }{
	{"preemption.go", "func (p *Preemptor) TryPreemption()", "func (p *Preemptor) nativeTryPreemption()"},
	{"required_node_preemptor.go", "func (p *PreemptionContext) GetVictims()", "func (p *PreemptionContext) nativeGetVictims()"},
	{"quota_preemptor.go", "func (qpc *QuotaPreemptionContext) tryPreemption()", "func (qpc *QuotaPreemptionContext) nativeTryPreemption()"},
}

// A rig is a copy of YuniKorn's core with the adapter in it.
type rig struct{ dir, core string }

// newRig makes one below dir. Nothing of YuniKorn is kept elsewhere.
func newRig(dir string) (*rig, error) {
	core, err := moduleDir(coreModule)
	if err != nil {
		return nil, err
	}
	library, err := moduleDir(ourModule)
	if err != nil {
		return nil, err
	}
	c := &rig{dir: dir, core: filepath.Join(dir, "core")}
	if err := os.CopyFS(c.core, writable{os.DirFS(core)}); err != nil {
		return nil, err
	}
	for _, s := range seams {
		if err := rename(filepath.Join(c.core, objects, s.file), s.method, s.native); err != nil {
			return nil, err
		}
	}
	if err := c.addSources("adapter", objects, "preempt_"); err != nil {
		return nil, err
	}
	if err := c.addSources("live", "cmd/live", ""); err != nil {
		return nil, err
	}
	return c, c.require(library)
}

// moduleDir returns where a module is that this one requires.
func moduleDir(module string) (string, error) {
	out, err := command("", nil, "go", "mod", "download", "-json", module)
	if err == nil || strings.Contains(err.Error(), "only verifies") {
		out, err = command("", nil, "go", "list", "-m", "-f", "{{.Dir}}", module)
	}
	if err != nil {
		return "", err
	}
	dir := strings.TrimSpace(out)
	if dir == "" {
		return "", fmt.Errorf("the module %s is not in the module cache", module)
	}
	return dir, nil
}

// writable makes copies of what is read-only, as all is in the module cache.
type writable struct{ fs.FS }

func (w writable) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	return writableFile{f}, err
}

type writableFile struct{ fs.File }

func (f writableFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return writableInfo{info}, err
}

func (f writableFile) ReadDir(n int) ([]fs.DirEntry, error) {
	dir, ok := f.File.(fs.ReadDirFile)
	if !ok {
		return nil, errors.New("not a directory")
	}
	return dir.ReadDir(n)
}

type writableInfo struct{ fs.FileInfo }

func (i writableInfo) Mode() fs.FileMode { return i.FileInfo.Mode() | 0o200 }

// rename renames a method in its declaration, which must be there once.
func rename(file, method, native string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte("\n"+method)); n != 1 {
		return fmt.Errorf("%s: %q is there %d times, and should be once", file, method, n)
	}
	return os.WriteFile(file, bytes.Replace(text, []byte("\n"+method), []byte("\n"+native), 1), 0o600)
}

// addSources writes the files of a folder of ours into one of the copy.
func (c *rig) addSources(from, to, prefix string) error {
	to = filepath.Join(c.core, to)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := sources.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := sources.ReadFile(from + "/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, prefix+e.Name()), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// require makes the copy require the library at a folder.
func (c *rig) require(library string) error {
	if _, err := command(c.core, nil, "go", "mod", "edit", "-go=1.26.0", "-require="+ourModule+"@v0.0.0", "-replace="+ourModule+"="+library); err != nil {
		return err
	}
	// The sums of what the library requires. The build would have to fetch them.
	sums, err := os.ReadFile(filepath.Join(library, "go.sum"))
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(c.core, "go.sum"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.Write(sums); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// build compiles a program, or with -c the tests of a package, and returns its file.
// Without paths in it, what was compiled for another copy serves again.
func (c *rig) build(name, verb string, args ...string) (string, error) {
	file := filepath.Join(c.dir, name)
	_, err := command(c.core, nil, "go", append([]string{verb, "-mod=mod", "-trimpath", "-tags=preempt", "-o", file}, args...)...)
	return file, err
}

// command runs a program and returns what it prints. An error has what it complained of.
func command(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, &complaint)
	}
	return out.String(), nil
}
