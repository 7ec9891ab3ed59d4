/** The same load on Tern and on others, in turn, client and server in processes of their own. */
@NullMarked
package tern.rpc.load.peer;

import org.jspecify.annotations.NullMarked;
