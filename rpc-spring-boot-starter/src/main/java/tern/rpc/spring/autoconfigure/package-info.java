/** Auto-configuration of server, client and meters from properties and beans. */
@NullMarked
package tern.rpc.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
