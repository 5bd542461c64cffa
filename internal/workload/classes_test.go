// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestAClassIsAskedOnceAMinuteWhetherItLetsVolumesGrow(t *testing.T) {
	reads, busy := 0, errors.New("the server is busy")
	var failure error
	class := func(name string, grows bool) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, AllowVolumeExpansion: &grows}
	}
	live := fake.NewClientBuilder().WithObjects(class("elastic", true), class("rigid", false)).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if reads++; failure != nil {
				return failure
			}
			return c.Get(ctx, key, into, options...)
		},
	}).Build()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	classes := &Classes{Live: live, Clock: clock}
	look := func(wantReads int, wantRigid, wantUnread string) {
		t.Helper()
		rigid, unread := classes.Rigid(t.Context(), []string{"", "elastic", "rigid", "gone"})
		if is := fmt.Sprint(rigid); is != wantRigid || fmt.Sprint(unread) != wantUnread || reads != wantReads {
			t.Errorf("expected %s and unread %s after %d reads, got\n%s and %v after %d", wantRigid, wantUnread, wantReads, is, unread, reads)
		}
	}
	const none = "map[]"
	const all = "map[:the claim has no StorageClass, so its volume cannot grow" +
		" gone:StorageClass gone does not exist, so the volume cannot grow" +
		" rigid:StorageClass rigid does not let volumes grow; set allowVolumeExpansion in the class if its driver supports that]"
	look(3, all, none)
	clock.SetTime(clock.Now().Add(ClassInterval - time.Second))
	look(3, all, none)
	failure = busy
	clock.SetTime(clock.Now().Add(time.Second))
	look(6, "map[:the claim has no StorageClass, so its volume cannot grow]", "map[elastic:opcrew cannot read whether StorageClass elastic lets volumes grow: the server is busy"+
		" gone:opcrew cannot read whether StorageClass gone lets volumes grow: the server is busy"+
		" rigid:opcrew cannot read whether StorageClass rigid lets volumes grow: the server is busy]")
	failure = nil
	look(9, all, none) // reads again, because the result of a failed read is not reused
}
