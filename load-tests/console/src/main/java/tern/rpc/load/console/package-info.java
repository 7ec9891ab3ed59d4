/** The application that the browser test in {@code load-tests/console} calls. */
@NullMarked
package tern.rpc.load.console;

import org.jspecify.annotations.NullMarked;
