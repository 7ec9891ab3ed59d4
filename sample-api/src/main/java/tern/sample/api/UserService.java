package tern.sample.api;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcMethod;

/** Users by mail address, number and page: the four calls of the benchmark that Apache Dubbo publishes. */
public interface UserService {

    /** Users on a full page of {@link #listUser}. */
    int PAGE_SIZE = 15;

    /** Whether somebody is registered under this address. */
    @RpcMethod(readOnly = true)
    boolean existUser(String email);

    /**
     * Registers a user. The number, and the times of creation and update, are the provider's choice.
     *
     * @return false if somebody is registered under this address already
     */
    boolean createUser(User user);

    /** The user with this number, or null. */
    @RpcMethod(readOnly = true)
    @Nullable
    User getUser(long id);

    /**
     * Users in the order of their numbers.
     *
     * @param pageNo the first page is 1
     */
    @RpcMethod(readOnly = true)
    Page<User> listUser(int pageNo);
}
