package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/stream"
)

// beside is a folder beside the runs' folders for what concerns the stack.
func (s *session) beside(what string) string {
	sum := sha256.Sum256([]byte(s.job.Backend + "\n" + s.job.Stack))
	return filepath.Join(filepath.Dir(s.job.Dir), what, hex.EncodeToString(sum[:16]))
}

// knownEncryption is the stack's encryption state as a former run saw it, "" if
// none did. It saves a preview from asking for the state before it begins, and is
// no secret.
func (s *session) knownEncryption() string {
	state, err := os.ReadFile(s.beside("encryption"))
	if err != nil {
		return "" // it is only a short cut
	}
	return string(state)
}

func (s *session) rememberEncryption() {
	path := s.beside("encryption")
	state := s.engine.Encryption()
	if s.knownEncryption() == state {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.out.Logf(stream.Warning, "The stack's encryption cannot be kept in mind: %v", err)
		return
	}
	// Readers see the old text or the new one.
	if err := os.WriteFile(path+".new", []byte(state), 0o600); err != nil {
		s.out.Logf(stream.Warning, "The stack's encryption cannot be kept in mind: %v", err)
		return
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.out.Logf(stream.Warning, "The stack's encryption cannot be kept in mind: %v", err)
	}
}

func (s *session) forgetEncryption() {
	if err := os.RemoveAll(s.beside("encryption")); err != nil {
		s.out.Logf(stream.Warning, "The stack's encryption cannot be forgotten: %v", err)
	}
}
