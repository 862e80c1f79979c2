// SPDX-License-Identifier: Apache-2.0

package koordinator

// Errors with their parts.
type (
	LabelError = labelError
	MixedError = mixedError
)
