/**
 * Hessian 2 as Dubbo uses it: Tern's own reader, which trusts no input, and a writer that uses hessian-lite for rare
 * types.
 */
@NullMarked
package tern.rpc.serialization.hessian;

import org.jspecify.annotations.NullMarked;
