/**
 * The Hessian 2 format as Dubbo uses it. The package contains Tern's own reader, which does not trust its input, and a
 * writer that uses hessian-lite for rare types.
 */
@NullMarked
package tern.rpc.serialization.hessian;

import org.jspecify.annotations.NullMarked;
