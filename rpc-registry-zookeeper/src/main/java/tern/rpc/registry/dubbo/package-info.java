/**
 * Converts between the text of Dubbo's registry entries and Java values, without side effects. The entries are the same
 * in all kinds of registries.
 */
@NullMarked
package tern.rpc.registry.dubbo;

import org.jspecify.annotations.NullMarked;
