/** Sources of providers, and the choice of the provider for the next call. */
@NullMarked
package tern.rpc.endpoint;

import org.jspecify.annotations.NullMarked;
