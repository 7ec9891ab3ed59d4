/** What Spring applications import: annotations for services and references, and customizers. */
@NullMarked
package tern.rpc.spring;

import org.jspecify.annotations.NullMarked;
