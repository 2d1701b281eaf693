package storage

import "go.etcd.io/bbolt"

// Raw returns a table as bbolt has it.
func (t *Tx) Raw(table string) *bbolt.Bucket { return t.tx.Bucket([]byte(table)) }

// Decoders returns, by format, what reads a value of the format.
func Decoders() map[string]func([]byte) error {
	return map[string]func([]byte) error{
		"log":     func(b []byte) error { _, _, err := decodeLog(b); return err },
		"record":  func(b []byte) error { _, err := decodeRecord(b); return err },
		"host":    func(b []byte) error { _, err := decodeHost(b); return err },
		"refusal": func(b []byte) error { _, err := decodeRefusal(b); return err },
		"links":   func(b []byte) error { _, err := decodeLinks(b); return err },
		"robots":  func(b []byte) error { _, err := decodeRobots(b); return err },
		"id":      func(b []byte) error { _, err := decodeID(b); return err },
		"queue":   func(b []byte) error { _, err := decodeQueueKey(b); return err },
		"later":   func(b []byte) error { _, _, err := decodeLaterKey(b); return err },
	}
}

// FailCommits has the store fail every later commit as a full or broken disk makes it fail.
func (s *Store) FailCommits() error { return s.file.Close() }
