// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package opimage builds and pushes the project's three images: the operator, the agent in users' pods, and the program
// that saves and restores etcd.
//
// It derives the names of the three images, builds them from the programs in bin, decides where each image is sent (a
// registry, or the local cluster's nodes), and puts their names into manifests. Package image builds and sends images
// in general, and the Makefile builds the programs.
package opimage
