/** Auto-configures the server, the client and the meters from properties and beans. */
@NullMarked
package tern.rpc.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
