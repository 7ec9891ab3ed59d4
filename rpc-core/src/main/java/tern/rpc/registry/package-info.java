/** Registries: how a provider publishes its address, and how a consumer finds the providers of a service. */
@NullMarked
package tern.rpc.registry;

import org.jspecify.annotations.NullMarked;
