package koordinator

// Errors with their parts.
type (
	LabelError = labelError
	MixedError = mixedError
)
