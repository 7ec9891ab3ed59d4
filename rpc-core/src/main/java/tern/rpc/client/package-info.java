/** Makes calls: from a proxy's method through filters and endpoints to the answer. */
@NullMarked
package tern.rpc.client;

import org.jspecify.annotations.NullMarked;
