/** Benchmarks of single pieces, each beside what it replaces, in one run. */
@NullMarked
package tern.rpc.load.micro;

import org.jspecify.annotations.NullMarked;
