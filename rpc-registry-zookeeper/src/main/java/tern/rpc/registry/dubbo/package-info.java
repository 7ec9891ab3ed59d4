/**
 * The entries of Dubbo's registries, as pure functions between texts and values. They are equal in all kinds of
 * registries.
 */
@NullMarked
package tern.rpc.registry.dubbo;

import org.jspecify.annotations.NullMarked;
