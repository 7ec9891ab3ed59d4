/** Where providers are, and which of them gets the next call. */
@NullMarked
package tern.rpc.endpoint;

import org.jspecify.annotations.NullMarked;
