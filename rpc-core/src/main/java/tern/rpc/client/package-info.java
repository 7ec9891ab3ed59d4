/** Makes calls. A call passes from a proxy's method through the filters to an endpoint. */
@NullMarked
package tern.rpc.client;

import org.jspecify.annotations.NullMarked;
