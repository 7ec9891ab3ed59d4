/** Stores registrations and reads lists of providers in ZooKeeper, in Dubbo's formats (docs/registries.md). */
@NullMarked
package tern.rpc.registry.zookeeper;

import org.jspecify.annotations.NullMarked;
