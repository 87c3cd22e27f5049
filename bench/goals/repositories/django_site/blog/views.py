from django.shortcuts import get_object_or_404, render

from .models import Post


def posts(request):
    return render(request, "blog/posts.html", {"posts": Post.objects.exclude(published=None).order_by("-published")})


def post(request, pk):
    return render(request, "blog/post.html", {"post": get_object_or_404(Post, pk=pk)})
