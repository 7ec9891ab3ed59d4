/** The measurements of every call, and the names of the meters. */
@NullMarked
package tern.rpc.metrics;

import org.jspecify.annotations.NullMarked;
