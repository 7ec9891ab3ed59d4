/** Compares the dependencies of a release with known advisories. */
@NullMarked
package tern.rpc.load.audit;

import org.jspecify.annotations.NullMarked;
