/** The service for users, based on SQL. */
@NullMarked
package tern.sample.provider.user;

import org.jspecify.annotations.NullMarked;
