/** Applies Dubbo's traffic rules at run time: configurators, tag rules and condition rules (docs/registries.md). */
@NullMarked
package tern.rpc.registry.dubbo.rules;

import org.jspecify.annotations.NullMarked;
