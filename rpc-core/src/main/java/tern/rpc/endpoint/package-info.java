/** Endpoint sources, and the interfaces for choosing the provider for the next call. */
@NullMarked
package tern.rpc.endpoint;

import org.jspecify.annotations.NullMarked;
