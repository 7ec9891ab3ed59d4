/** Annotations for services and references, and customizers of server and client. */
@NullMarked
package tern.rpc.spring;

import org.jspecify.annotations.NullMarked;
