package tern.rpc.load.peer;

import java.rmi.RemoteException;
import tern.rpc.load.peer.Peer.Services;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;
import tern.sample.api.UserService;

final class RmiCalls implements UserService, EchoService, WorkService {

    private final RmiBenchmark stub;

    private RmiCalls(RmiBenchmark stub) {
        this.stub = stub;
    }

    static Services over(RmiBenchmark stub) {
        RmiCalls calls = new RmiCalls(stub);
        return new Services(calls, calls, calls);
    }

    private interface Call<T> {
        T make() throws RemoteException;
    }

    private static <T> T made(Call<T> call) {
        try {
            return call.make();
        } catch (RemoteException e) {
            throw new IllegalStateException("a call by RMI failed", e);
        }
    }

    @Override
    public boolean existUser(String email) {
        return made(() -> stub.existUser(email));
    }

    @Override
    public boolean createUser(User user) {
        return made(() -> stub.createUser(user));
    }

    @Override
    public User getUser(long id) {
        return made(() -> stub.getUser(id));
    }

    @Override
    public Page<User> listUser(int pageNo) {
        return made(() -> stub.listUser(pageNo));
    }

    @Override
    public String echo(String text) {
        return made(() -> stub.echo(text));
    }

    @Override
    public Person echo(Person person) {
        return made(() -> stub.echo(person));
    }

    @Override
    public String build(int times) {
        return made(() -> stub.build(times));
    }
}
