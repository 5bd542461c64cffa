// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	appv1 "github.com/opcrew/opcrew/api/app/v1"
	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// types maps each kind to its Go type.
var types = map[string]any{
	"Activity":               egov1.Activity{},
	"AppService":             appv1.AppService{},
	"Diva":                   opsv1.Diva{},
	"EtcdBackup":             etcdv1beta2.EtcdBackup{},
	"EtcdCluster":            etcdv1beta2.EtcdCluster{},
	"EtcdRestore":            etcdv1beta2.EtcdRestore{},
	"Memcached":              cachev1alpha1.Memcached{},
	"MicroServiceDeploy":     customv1.MicroServiceDeploy{},
	"NodePool":               nodesv1.NodePool{},
	"RedisEnterpriseCluster": redisv1alpha1.RedisEnterpriseCluster{},
}
