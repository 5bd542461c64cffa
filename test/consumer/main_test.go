// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	appconfig "github.com/opcrew/opcrew/applyconfigurations/app/v1"
	cacheconfig "github.com/opcrew/opcrew/applyconfigurations/cache/v1alpha1"
	customconfig "github.com/opcrew/opcrew/applyconfigurations/custom/v1"
	egoconfig "github.com/opcrew/opcrew/applyconfigurations/ego/v1"
	etcdconfig "github.com/opcrew/opcrew/applyconfigurations/etcd/v1beta2"
	nodesconfig "github.com/opcrew/opcrew/applyconfigurations/nodes/v1"
	opsconfig "github.com/opcrew/opcrew/applyconfigurations/ops/v1"
	redisconfig "github.com/opcrew/opcrew/applyconfigurations/redis/v1alpha1"
)

func TestAnAppliedConfigurationHoldsOnlyWhatWasDeclared(t *testing.T) {
	raw, err := json.Marshal(declared("example", "default", 3))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"Memcached","apiVersion":"cache.example.com/v1alpha1","metadata":{"name":"example","namespace":"default",` +
		`"labels":{"team":"a"}},"spec":{"size":3,"exporter":{}}}`
	if string(raw) != want {
		t.Errorf("expected\n%s, got\n%s", want, raw)
	}
}

// owned is the metadata of an object with two labels. The field manager "me" owns only one of them.
var owned = metav1.ObjectMeta{
	Name: "a", Namespace: "b", Labels: map[string]string{"mine": "yes", "other": "no"},
	ManagedFields: []metav1.ManagedFieldsEntry{{
		Manager: "me", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:mine":{}}}}`)},
	}},
}

func TestAClientExtractsItsOwnFieldsOfEveryKind(t *testing.T) {
	for kind, extract := range map[string]func() (any, error){
		"NodePool": func() (any, error) { return nodesconfig.ExtractNodePool(&nodesv1.NodePool{ObjectMeta: owned}, "me") },
		"Activity": func() (any, error) { return egoconfig.ExtractActivity(&egov1.Activity{ObjectMeta: owned}, "me") },
		"AppService": func() (any, error) {
			return appconfig.ExtractAppService(&appv1.AppService{ObjectMeta: owned}, "me")
		},
		"MicroServiceDeploy": func() (any, error) {
			return customconfig.ExtractMicroServiceDeploy(&customv1.MicroServiceDeploy{ObjectMeta: owned}, "me")
		},
		"Diva": func() (any, error) { return opsconfig.ExtractDiva(&opsv1.Diva{ObjectMeta: owned}, "me") },
		"Memcached": func() (any, error) {
			return cacheconfig.ExtractMemcached(&cachev1alpha1.Memcached{ObjectMeta: owned}, "me")
		},
		"EtcdCluster": func() (any, error) {
			return etcdconfig.ExtractEtcdCluster(&etcdv1beta2.EtcdCluster{ObjectMeta: owned}, "me")
		},
		"EtcdBackup": func() (any, error) {
			return etcdconfig.ExtractEtcdBackup(&etcdv1beta2.EtcdBackup{ObjectMeta: owned}, "me")
		},
		"EtcdRestore": func() (any, error) {
			return etcdconfig.ExtractEtcdRestore(&etcdv1beta2.EtcdRestore{ObjectMeta: owned}, "me")
		},
		"RedisEnterpriseCluster": func() (any, error) {
			return redisconfig.ExtractRedisEnterpriseCluster(&redisv1alpha1.RedisEnterpriseCluster{ObjectMeta: owned}, "me")
		},
	} {
		t.Run(kind, func(t *testing.T) {
			config, err := extract()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			got := metav1.PartialObjectMetadata{}
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if got.Kind != kind || got.Name != "a" || len(got.Labels) != 1 || got.Labels["mine"] != "yes" {
				t.Errorf("expected %s a with the label that the manager owns, got %s", kind, raw)
			}
		})
	}
}
