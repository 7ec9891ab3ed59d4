/** Registries, which publish providers' addresses and find the providers of a service. */
@NullMarked
package tern.rpc.registry;

import org.jspecify.annotations.NullMarked;
