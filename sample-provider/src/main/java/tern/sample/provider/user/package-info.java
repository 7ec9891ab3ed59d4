/** The user service, which stores its data in an SQL database. */
@NullMarked
package tern.sample.provider.user;

import org.jspecify.annotations.NullMarked;
