/** Registrations and lists of providers in ZooKeeper, in the formats of Dubbo (docs/registries.md). */
@NullMarked
package tern.rpc.registry.zookeeper;

import org.jspecify.annotations.NullMarked;
