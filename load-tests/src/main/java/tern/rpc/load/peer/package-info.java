/** The same load on Tern and on other frameworks in turn, with client and server in separate processes. */
@NullMarked
package tern.rpc.load.peer;

import org.jspecify.annotations.NullMarked;
