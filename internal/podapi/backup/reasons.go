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
	ReasonTimeout  Reason = "Timeout"  // it took too long
	ReasonStopped  Reason = "Stopped"  // the pod was stopped

	// Of the store.
	ReasonSecretInvalid    Reason = "SecretInvalid"    // a key of the Secret is missing or cannot be read
	ReasonAccessDenied     Reason = "AccessDenied"     // the store refuses the Secret, or this access
	ReasonBucketMissing    Reason = "BucketMissing"    // the bucket, container or folder does not exist
	ReasonObjectMissing    Reason = "ObjectMissing"    // the object does not exist, or none of the path is complete
	ReasonStoreUnreachable Reason = "StoreUnreachable" // its server cannot be reached
	ReasonStoreFailed      Reason = "StoreFailed"      // other failures
	ReasonDiskFull         Reason = "DiskFull"         // a volume has no room left, or its quota is used up
	ReasonPruneFailed      Reason = "PruneFailed"      // the backup is there, but older ones could not be removed
	ReasonOtherCluster     Reason = "OtherCluster"     // the backup is there, beside those of another cluster

	// Of the cluster.
	ReasonEtcdUnreachable Reason = "EtcdUnreachable" // no member answers
	ReasonEtcdRefused     Reason = "EtcdRefused"     // members answer, but do not give a snapshot
	ReasonNoLeader        Reason = "NoLeader"        // members answer, but none has a leader: their data may be old
	ReasonSnapshotBroken  Reason = "SnapshotBroken"  // the hash of the snapshot does not match

	// Of an object.
	ReasonCorrupt       Reason = "Corrupt"       // it differs from what was saved
	ReasonNotRestorable Reason = "NotRestorable" // it is what was saved, but etcd does not start with it
	ReasonNotRecorded   Reason = "NotRecorded"   // the result of a proof could not be written into the record
	ReasonProcessFailed Reason = "ProcessFailed" // the process that reads it was killed, did not start or took too long, which proves nothing

	// Of a data directory.
	ReasonDataDirInUse  Reason = "DataDirInUse"  // it has data of another order
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

// ReasonOf returns the first reason in err, or otherwise.
func ReasonOf(err error, otherwise Reason) Reason {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	return otherwise
}
