/** Dubbo's metadata service, through which a process lists the services that it offers. */
@NullMarked
package tern.rpc.registry.dubbo.metadata;

import org.jspecify.annotations.NullMarked;
