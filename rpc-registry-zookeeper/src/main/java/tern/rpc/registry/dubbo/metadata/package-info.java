/** Dubbo's metadata service, which lists the services that a process offers. */
@NullMarked
package tern.rpc.registry.dubbo.metadata;

import org.jspecify.annotations.NullMarked;
