/** Registries: publishing the address of a provider, and finding the providers of a service. */
@NullMarked
package tern.rpc.registry;

import org.jspecify.annotations.NullMarked;
