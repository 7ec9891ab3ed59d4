/** What is measured of every call, and under which names. */
@NullMarked
package tern.rpc.metrics;

import org.jspecify.annotations.NullMarked;
