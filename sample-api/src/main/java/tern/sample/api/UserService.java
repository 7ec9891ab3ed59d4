package tern.sample.api;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcMethod;

/** Finds and creates users. The four methods come from the benchmark published by Apache Dubbo. */
public interface UserService {

    /** The number of users on a full page of {@link #listUser}. */
    int PAGE_SIZE = 15;

    /** Returns whether a user with this email address is registered. */
    @RpcMethod(readOnly = true)
    boolean existUser(String email);

    /**
     * Registers a user. The provider sets the user's id, creation time and update time.
     *
     * @return false if a user with this email address already exists
     */
    boolean createUser(User user);

    /** Returns the user with this id, or null if there is none. */
    @RpcMethod(readOnly = true)
    @Nullable
    User getUser(long id);

    /**
     * Returns one page of users, ordered by id.
     *
     * @param pageNo the page number, which starts at 1
     */
    @RpcMethod(readOnly = true)
    Page<User> listUser(int pageNo);
}
