/** Benchmarks of single components. Each benchmark also measures the alternative that the component replaces. */
@NullMarked
package tern.rpc.load.micro;

import org.jspecify.annotations.NullMarked;
