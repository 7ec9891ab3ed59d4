/** The application that a browser calls in {@code load-tests/console}. */
@NullMarked
package tern.rpc.load.console;

import org.jspecify.annotations.NullMarked;
