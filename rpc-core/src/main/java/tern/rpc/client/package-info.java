/** Makes calls: from the method of a proxy through filters and endpoints to the answer. */
@NullMarked
package tern.rpc.client;

import org.jspecify.annotations.NullMarked;
