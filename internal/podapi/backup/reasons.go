// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
)

// Reason is why an order has its outcome.
type Reason string

// The reasons.
const (
	ReasonBadOrder Reason = "BadOrder" // the order itself is wrong
	ReasonTimeout  Reason = "Timeout"  // its time was over
	ReasonStopped  Reason = "Stopped"  // the pod was ended

	// Of the store.
	ReasonSecretInvalid    Reason = "SecretInvalid"    // a key of the Secret is missing or cannot be read
	ReasonAccessDenied     Reason = "AccessDenied"     // the store does not accept the Secret, or not for this
	ReasonBucketMissing    Reason = "BucketMissing"    // the bucket, container or folder does not exist
	ReasonObjectMissing    Reason = "ObjectMissing"    // the object does not exist, or none of the path is complete
	ReasonStoreUnreachable Reason = "StoreUnreachable" // its server cannot be reached
	ReasonStoreFailed      Reason = "StoreFailed"      // it failed otherwise
	ReasonDiskFull         Reason = "DiskFull"         // a volume has no room left, or its quota is used up
	ReasonPruneFailed      Reason = "PruneFailed"      // the backup is there, but older ones could not be removed
	ReasonOtherCluster     Reason = "OtherCluster"     // the backup is there, beside those of another cluster

	// Of the cluster.
	ReasonEtcdUnreachable Reason = "EtcdUnreachable" // no member answers
	ReasonEtcdRefused     Reason = "EtcdRefused"     // members answer, but do not give a snapshot
	ReasonNoLeader        Reason = "NoLeader"        // members answer, but none has a leader: what they hold may be old
	ReasonSnapshotBroken  Reason = "SnapshotBroken"  // what they give does not have the hash that they say

	// Of an object.
	ReasonCorrupt       Reason = "Corrupt"       // it is not what was saved
	ReasonNotRestorable Reason = "NotRestorable" // it is what was saved, but etcd does not start with it
	ReasonNotRecorded   Reason = "NotRecorded"   // what was found of it could not be written into its record
	ReasonProcessFailed Reason = "ProcessFailed" // what reads it was killed, did not begin or took too long, which says nothing of it

	// Of a data directory.
	ReasonDataDirInUse  Reason = "DataDirInUse"  // it has something in it that is not of this order
	ReasonVolumeFailed  Reason = "VolumeFailed"  // a volume cannot be read or written
	ReasonMemberInvalid Reason = "MemberInvalid" // name, URLs and initial cluster do not fit together
)

// Error is an error with its reason.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Fail is an error with a reason, as fmt.Errorf makes it.
func Fail(reason Reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// ReasonOf is the first reason in err, or otherwise.
func ReasonOf(err error, otherwise Reason) Reason {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	return otherwise
}
