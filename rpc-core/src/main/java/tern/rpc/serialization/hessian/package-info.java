/** Hessian 2 as Dubbo speaks it: a reader of our own that trusts nothing, and a writer on top of hessian-lite. */
@NullMarked
package tern.rpc.serialization.hessian;

import org.jspecify.annotations.NullMarked;
