// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
)

// Reason explains in one word how an order, a task of the backup program, ended.
type Reason string

// These reasons apply to an order, one task of the backup program, as a whole.
const (
	ReasonBadOrder Reason = "BadOrder" // the order (the task of the program) is invalid
	ReasonTimeout  Reason = "Timeout"  // the program took too long for its task
	ReasonStopped  Reason = "Stopped"  // the pod was stopped

	// These reasons concern the store of the backups.
	ReasonSecretInvalid    Reason = "SecretInvalid"    // a key of the Secret is missing or unreadable
	ReasonAccessDenied     Reason = "AccessDenied"     // the store refuses the credentials or this access
	ReasonBucketMissing    Reason = "BucketMissing"    // the bucket, container or folder does not exist
	ReasonObjectMissing    Reason = "ObjectMissing"    // the object does not exist, or the path has no complete backup
	ReasonStoreUnreachable Reason = "StoreUnreachable" // the store's server cannot be reached
	ReasonStoreFailed      Reason = "StoreFailed"      // another failure of the store
	ReasonDiskFull         Reason = "DiskFull"         // a volume is full, or its quota is used up
	ReasonPruneFailed      Reason = "PruneFailed"      // the backup was saved, but older ones could not be removed
	ReasonOtherCluster     Reason = "OtherCluster"     // the backup was saved, but the path has backups of another cluster

	// These reasons concern the etcd cluster.
	ReasonEtcdUnreachable Reason = "EtcdUnreachable" // no member responds
	ReasonEtcdRefused     Reason = "EtcdRefused"     // members respond, but send no snapshot
	ReasonNoLeader        Reason = "NoLeader"        // members respond, but have no leader, so their data may be outdated
	ReasonSnapshotBroken  Reason = "SnapshotBroken"  // the hash of the snapshot does not match

	// These reasons concern a stored backup.
	ReasonCorrupt       Reason = "Corrupt"       // the backup differs from the saved data
	ReasonNotRestorable Reason = "NotRestorable" // the backup is unchanged, but etcd does not start with it
	ReasonNotRecorded   Reason = "NotRecorded"   // the result of a verification could not be recorded
	ReasonProcessFailed Reason = "ProcessFailed" // the process that checks the backup failed, so it is unknown whether the backup is good

	// These reasons concern a data directory that is restored.
	ReasonDataDirInUse  Reason = "DataDirInUse"  // the directory is not empty, and this restore did not write its data
	ReasonVolumeFailed  Reason = "VolumeFailed"  // a volume cannot be read or written
	ReasonMemberInvalid Reason = "MemberInvalid" // name, URLs and initial cluster contradict each other
)

// Error is an error with a reason.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Fail returns an error with a reason. It formats the message like fmt.Errorf.
func Fail(reason Reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// ReasonOf returns the first reason in the error chain of err. If the chain has none, ReasonOf returns the reason that
// the caller passes.
func ReasonOf(err error, otherwise Reason) Reason {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	return otherwise
}
