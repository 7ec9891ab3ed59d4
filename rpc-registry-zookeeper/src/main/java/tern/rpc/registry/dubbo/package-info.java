/**
 * Converts between the text of Dubbo's registry entries and Java values, without side effects. All kinds of registries
 * use the same entries.
 */
@NullMarked
package tern.rpc.registry.dubbo;

import org.jspecify.annotations.NullMarked;
