package etcd

func Dial(Target) (Store, error) { return nil, nil }
