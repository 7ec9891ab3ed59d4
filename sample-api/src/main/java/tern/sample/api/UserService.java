package tern.sample.api;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcMethod;

/**
 * Manages users by mail address, number and page. These are the four calls of the benchmark that Apache Dubbo
 * publishes.
 */
public interface UserService {

    /** Number of users on a full page of {@link #listUser}. */
    int PAGE_SIZE = 15;

    /** Returns whether a user is registered with this mail address. */
    @RpcMethod(readOnly = true)
    boolean existUser(String email);

    /**
     * Registers a user. The provider sets the number and the times of creation and update.
     *
     * @return false if a user with this mail address already exists
     */
    boolean createUser(User user);

    /** Returns the user with this number, or null. */
    @RpcMethod(readOnly = true)
    @Nullable
    User getUser(long id);

    /**
     * Returns one page of users, ordered by number.
     *
     * @param pageNo number of the page; the first one is 1
     */
    @RpcMethod(readOnly = true)
    Page<User> listUser(int pageNo);
}
