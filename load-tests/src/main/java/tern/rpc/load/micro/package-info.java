/** Benchmarks of single components. Each runs together with the variant that it replaces. */
@NullMarked
package tern.rpc.load.micro;

import org.jspecify.annotations.NullMarked;
