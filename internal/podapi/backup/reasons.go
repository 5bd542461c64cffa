// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
)

// Reason is the reason of an outcome.
type Reason string

// The reasons.
const (
	ReasonBadOrder Reason = "BadOrder" // the order itself is wrong
	ReasonTimeout  Reason = "Timeout"  // the order took too long
	ReasonStopped  Reason = "Stopped"  // the pod was stopped

	// Reasons of the store.
	ReasonSecretInvalid    Reason = "SecretInvalid"    // a key of the Secret is missing or cannot be read
	ReasonAccessDenied     Reason = "AccessDenied"     // the store refuses the Secret, or this access
	ReasonBucketMissing    Reason = "BucketMissing"    // the bucket, container or folder does not exist
	ReasonObjectMissing    Reason = "ObjectMissing"    // the object does not exist, or the path has no complete backup
	ReasonStoreUnreachable Reason = "StoreUnreachable" // the store's server cannot be reached
	ReasonStoreFailed      Reason = "StoreFailed"      // other failures of the store
	ReasonDiskFull         Reason = "DiskFull"         // a volume is full, or its quota is used up
	ReasonPruneFailed      Reason = "PruneFailed"      // the backup was saved, but older ones could not be removed
	ReasonOtherCluster     Reason = "OtherCluster"     // the backup was saved, but the path has backups of another cluster

	// Reasons of the cluster.
	ReasonEtcdUnreachable Reason = "EtcdUnreachable" // no member responds
	ReasonEtcdRefused     Reason = "EtcdRefused"     // members respond, but send no snapshot
	ReasonNoLeader        Reason = "NoLeader"        // members respond, but have no leader, so their data may be outdated
	ReasonSnapshotBroken  Reason = "SnapshotBroken"  // the hash of the snapshot does not match

	// Reasons of an object.
	ReasonCorrupt       Reason = "Corrupt"       // it differs from the saved data
	ReasonNotRestorable Reason = "NotRestorable" // it is unchanged, but etcd does not start with it
	ReasonNotRecorded   Reason = "NotRecorded"   // the result of a verification could not be recorded
	ReasonProcessFailed Reason = "ProcessFailed" // the reading process failed, so the state is unknown

	// Reasons of a data directory.
	ReasonDataDirInUse  Reason = "DataDirInUse"  // it contains data of another order
	ReasonVolumeFailed  Reason = "VolumeFailed"  // a volume cannot be read or written
	ReasonMemberInvalid Reason = "MemberInvalid" // name, URLs and initial cluster contradict each other
)

// Error is an error with its reason.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Fail returns an error with a reason, formatted as by fmt.Errorf.
func Fail(reason Reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// ReasonOf returns the first reason in err, or otherwise if there is none.
func ReasonOf(err error, otherwise Reason) Reason {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	return otherwise
}
