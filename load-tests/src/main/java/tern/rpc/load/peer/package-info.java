/** Runs the same load on Tern and other frameworks, one after another. Client and server are separate processes. */
@NullMarked
package tern.rpc.load.peer;

import org.jspecify.annotations.NullMarked;
